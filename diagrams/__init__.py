"""Pictures of executions as pure functions of them: scenes, diagrams, panels, still pictures, exports and charts."""
