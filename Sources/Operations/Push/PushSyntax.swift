extension CommandSyntax {
    static let push = CommandSyntax(
        path: ["push"],
        summary: "Push requests straight to APNs, without a broker, and show what it answers.",
        discussion: """
            Reads keys, certificates, apps and endpoints from the configuration, checks each request as a worker does, pushes
            it once, and prints the outcome with a sentence; with --json what a worker would publish as the result. Nothing
            is published, and nothing is tried again. A key inside aps that Apple does not define is warned of, on
            standard error. Exit code 0: all were accepted, 1: one was not, 3: there is no
            connection to APNs.
            """,
        operands: "FILE…",
        options: [
            .config(isRequired: true), .json,
            OptionSyntax(name: "new-id", help: "put a new id in the place of the file's own"),
        ])
}
