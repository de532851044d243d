"""``make demo``: the whole story, without key or network.

``python -m examples.demo [DIR]``; files go to ``demo-out/`` or DIR.
"""
