"""What this machine would do with the models of YuE2, and what keeps it from doing more.

Nothing here needs torch until it is found to be there, and no weights are loaded.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from engine.errors import EngineError, MissingExtra
from engine.yue2.machine.builds import TorchBuild, blindness, torch_build
from engine.yue2.machine.driver import Driver, ask_driver
from engine.yue2.machine.outlook import MODEL_SETTING, VAE_SETTING, FolderState, Plan, Wishes

SWAPPED = f"{MODEL_SETTING} and {VAE_SETTING} seem to be swapped: each names the folder that the other should; exchange them."
NOBODY = "nobody, before the problems below are solved"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The report. `torch` is None where it cannot be used; `problems` are sentences that say what to do."""

    driver: Driver
    torch: TorchBuild | None
    torch_fault: str
    folders: tuple[FolderState, ...]
    plan: Plan | None
    problems: tuple[str, ...]

    @property
    def conclusion(self) -> str:
        """Who makes songs here."""
        if self.plan is not None and not self.problems:
            return f"YuE2 on {self.plan.device} ({self.plan.name})"
        if not self.folders:
            return "the built-in band, since YUE2_MODEL is not set"
        return NOBODY


def diagnose(wishes: Wishes, environ: Mapping[str, str]) -> Diagnosis:
    """Look at driver, torch and folders. Raises nothing that a broken installation would raise."""
    driver, build = ask_driver(), torch_build()
    found = None if isinstance(build, str) else build
    folders = tuple(FolderState(setting, path) for setting, path in wishes.folders())
    problems = [] if wishes.device == "cpu" else _card_problems(driver, found, environ)
    plan = None
    if isinstance(build, str):
        problems += [build] if folders else []
    elif folders:
        folders, plan, more = _model_findings(folders, wishes)
        problems += more
    return Diagnosis(driver, found, build if isinstance(build, str) else "", folders, plan, tuple(problems))


def _card_problems(driver: Driver, build: TorchBuild | None, environ: Mapping[str, str]) -> list[str]:
    visible = environ.get("CUDA_VISIBLE_DEVICES")
    blind = blindness(build, len(driver.cards), visible) if build else ""
    silent = (
        f"There is an NVIDIA driver, but it does not answer ({driver.fault}); install it again or restart the "
        "machine, or set YUE2_DEVICE=cpu."
    )
    return [sentence for sentence in (blind, silent if driver.fault else "") if sentence]


def _model_findings(
    folders: tuple[FolderState, ...], wishes: Wishes
) -> tuple[tuple[FolderState, ...], Plan | None, list[str]]:
    """What the folders hold and what would be done with them; the first look that needs torch."""
    try:
        from engine.yue2.machine.planning import folder_states, plan_for
    except ModuleNotFoundError as error:
        return folders, None, [str(MissingExtra(error.name or "safetensors"))]
    states = folder_states(folders)
    problems = [state.fault for state in states if state.fault]
    if problems and _are_swapped(wishes, folder_states):
        return states, None, [SWAPPED]
    if problems or wishes.model is None or wishes.vae is None:
        return states, None, problems
    try:
        return states, plan_for(wishes.model, wishes.vae, wishes), []
    except EngineError as error:
        return states, None, [str(error)]


def _are_swapped(wishes: Wishes, look: Callable[[Iterable[FolderState]], tuple[FolderState, ...]]) -> bool:
    """Whether both folders are what the other setting wants."""
    exchanged = Wishes(wishes.vae, wishes.model).folders()
    states = look(FolderState(setting, path) for setting, path in exchanged)
    return len(states) == 2 and not any(state.fault for state in states)
