"""What can be told of an address without looking anything up; pure."""
