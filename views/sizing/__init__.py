"""The page Sizing: a calculator."""
