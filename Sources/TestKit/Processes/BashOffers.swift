/// What bash completes words to.
public enum BashOffers {
    /// - Parameters:
    ///   - line: the words behind the command; the last of them is to be completed.
    ///   - script: completes the command by a function that is called after it, `_` before and in the place of `-`.
    ///   - folder: whose files can be completed.
    /// - Throws: `ProcessError` when the script fails or complains.
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
