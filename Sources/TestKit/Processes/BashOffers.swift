/// The completions that bash offers.
public enum BashOffers {
    /// Returns the completions of the last word of a command line.
    ///
    /// - Parameters:
    ///   - line: The words after the command. The last word is completed.
    ///   - script: The completion script. Its function is named after the command, with a leading `_` and `_` for each
    ///     `-`.
    ///   - folder: The current folder, whose files can be completed.
    /// - Throws: `ProcessError` if the script fails or prints errors.
    public static func completing(
        _ line: String, of command: String, by script: String, in folder: TemporaryDirectory
    ) async throws -> Set<String> {
        let words = [command] + line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let result = try await ChildProcess.run(
            [
                "bash", "-c",
                #"""
                set -eu
                cd "$0" && . "$1"
                shift
                complete -p "$1" > /dev/null
                COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
                _"${1//-/_}"
                printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"}
                """#, folder.path, try folder.write("script", script),
            ] + words)
        guard result.exit.status == .exited(0), result.errors == [] else {
            throw ProcessError("\(line): \(result.exit.status), \(result.errors)")
        }
        return Set(result.output).subtracting([""])
    }
}
