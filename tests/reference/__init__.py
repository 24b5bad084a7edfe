"""What a cut and a verdict mean, as code of its own: naive, and shared with nothing that it judges.

`definition` is the meaning, `generator` makes systems in which any features meet, `explorer` visits every run. They
import sim.core, sim.document and the run itself, and nothing of sim.theory, sim.verify, sim.run.cut_states,
sim.explore, diagrams or pipeline. Every other implementation is held against them.
"""
