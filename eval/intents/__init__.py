"""Intent classifiers measured: figures with intervals, reliability, costs; `python -m eval.intents`."""
