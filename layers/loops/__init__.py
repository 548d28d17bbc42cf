"""The program's own calls as steps, stream by stream, and what every layer does in each iteration of a loop."""
