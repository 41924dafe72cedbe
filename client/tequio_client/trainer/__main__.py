"""Start a trainer: `python -m tequio_client.trainer`, driven by `link.messages` over pipes."""

from tequio_client.trainer.main import main

if __name__ == "__main__":
    main()
