"""What leaves the clone and can be checked elsewhere: archives, and where a number comes from."""
