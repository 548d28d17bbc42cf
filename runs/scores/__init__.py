"""Which of many jobs to look at first (Betke and Kunkel, ISC'20): segments, scores and rankings."""
