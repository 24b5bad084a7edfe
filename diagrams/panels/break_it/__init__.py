"""The panel Break it: rules that are broken on purpose."""
