"""The papers' tables, one file each, and what runs them: `espalier reproduce`."""
