"""What a score is worth: calibrators, thresholds from costs, an error bound, signals of a shift.

Pure functions over arrays and frozen records; labels come in as arrays, no file of them is opened.
"""
