"""The same jobs done with lance_explorer and with pylance, side by side: see README.md."""
