"""Real recordings beside the repository, judged by what the programs said of themselves."""
