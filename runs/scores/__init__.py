"""Which of many jobs deserve a look (Betke and Kunkel, ISC'20): segments, scores and rankings."""
