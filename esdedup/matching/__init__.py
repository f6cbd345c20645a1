"""Who meets whom, and are they alike? Signers, matchers and verifiers, and what an engine offers them."""
