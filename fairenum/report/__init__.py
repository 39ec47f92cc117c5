"""Reports: the document of an audit becomes one view, and the view becomes text for people or machines."""
