"""What people and scripts are told: values in, text or JSON out. Import the part that is needed.

Text is plain, fits a terminal's width, and shows recorded text as data: control characters in it are escaped.
"""
