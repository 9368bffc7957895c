"""`python -m searx_mcp` and the `searx-mcp` command."""

from searx_mcp.cli.main import main

if __name__ == "__main__":
    main()
