"""Firmware projects as hls4ml writes them: a folder of C++ as a program of steps.

`tokens` are the words of a file; `fixed_point_types` the types ap_fixed and ap_int; `declarations` typedefs and the
configurations of layers; `calls` the function that calls the layers; `templates` their code, `directives` what may
change it; `weights` their numbers; `lattices` which numbers a value may be; `sums` and `builder` make the steps;
`layers` says what each function of hls4ml computes, `entry_types` and `adders` those that it writes for one model;
`ends` finds inputs and outputs, `folder` says what a project is, and `project` reads one.
"""
