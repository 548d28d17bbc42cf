"""The one engine of all pages: documents of sections, and the code that draws them in a browser."""
