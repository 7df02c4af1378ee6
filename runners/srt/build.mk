# Only headers: the library under test is chosen when the program runs. libxxhash is inlined.
RUNNER_PC_srt := srt libxxhash
