"""Tables and figures as data: cells, marks, axes and styles, which renderers write."""
