"""What a cluster brings: measured on this machine, and simulated for many workers."""
