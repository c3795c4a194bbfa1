"""The origin and the later places of rows and fragments."""
