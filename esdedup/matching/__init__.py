"""Which texts are compared, and are they similar? Signers, matchers and verifiers, and what an engine offers them."""
