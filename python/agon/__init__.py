"""General game playing: give it the rules of any game, and play it, search it, explain it.

>>> import agon
>>> game = agon.load("connect-four")
>>> state = game.start()
>>> state.play("(drop 4)")
>>> state.turn
'yellow'

Optional parts are imported by name, so that nothing else has to be installed:
`agon.learn` (arrays and networks), `agon.gymnasium`, `agon.pettingzoo`, `agon.openspiel`,
`agon.ray`.
"""

from ._agon import (
    AgonError,
    Batch,
    ExperimentPlan,
    Game,
    IllegalMoveError,
    Learner,
    Model,
    Player,
    RulesError,
    State,
    TournamentPlan,
    __version__,
    check,
    experiments,
    games,
    load,
    match,
    players,
    translate,
)
from ._records import (
    Assessment,
    Considered,
    Explanation,
    Finding,
    MatchResult,
    Playouts,
    Report,
    ShippedGame,
    Solution,
    Survey,
    View,
)
from ._experiments import ExperimentResult, experiment
from .tournaments import Store, TournamentResult, tournament

__all__ = [
    "AgonError",
    "Assessment",
    "Batch",
    "Considered",
    "ExperimentPlan",
    "ExperimentResult",
    "Explanation",
    "Finding",
    "Game",
    "IllegalMoveError",
    "Learner",
    "MatchResult",
    "Model",
    "Player",
    "Playouts",
    "Report",
    "RulesError",
    "ShippedGame",
    "Solution",
    "State",
    "Store",
    "Survey",
    "TournamentPlan",
    "TournamentResult",
    "View",
    "__version__",
    "check",
    "experiment",
    "experiments",
    "games",
    "load",
    "match",
    "players",
    "tournament",
    "translate",
]
