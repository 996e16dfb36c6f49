"""Tasks: claims about pairs as data, run by the core, answered by results whose witnesses were replayed exactly."""
