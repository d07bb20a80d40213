"""Tables as LaTeX and HTML: what belongs to no kind of them."""
