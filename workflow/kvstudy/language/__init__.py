"""The language of what people read: catalogues of translations, and how numbers are written."""
