"""Everything that can be determined about an address without a lookup; pure."""
