"""`python -m esdedup`."""

from esdedup.cli import command

if __name__ == "__main__":
    command()
