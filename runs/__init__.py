"""What many runs tell together: signatures of applications, scores of jobs."""
