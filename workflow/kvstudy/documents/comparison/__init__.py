"""Two finished runs compared with each other: two machines, two versions, before and after."""
