"""How two networks differ where somebody looked: samples and an attack, and nothing that proves anything.

`places` says where to look: at the rows of a table, or at random points of a box. `outputs` compares what the networks
answer there, `layers` what they are made of and where differences arise, `worth_claiming` which claims nothing seen
speaks against. `difference` puts these together as what is `seen`, and `page` shows it.
"""
