"""Programs of da4ml (DAIS, its instruction set of distributed arithmetic), as HGQ, HGQ2 and hls4ml write them.

`location` says which paths hold one; `instructions` reads its JSON; `forms` are sums of earlier values; `values` says
what each instruction gives, `reader` goes through a program, and `layering` makes steps of what is not a sum.
"""
