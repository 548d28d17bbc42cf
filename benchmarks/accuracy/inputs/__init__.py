"""Made inputs of the accuracy study, each from a seed, each with its truth."""
