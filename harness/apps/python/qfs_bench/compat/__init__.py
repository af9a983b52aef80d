"""Stand-ins for other packages: change the import, keep the script and its digits."""
