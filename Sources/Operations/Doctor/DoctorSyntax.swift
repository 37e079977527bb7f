extension CommandSyntax {
    static let doctor = CommandSyntax(
        path: ["doctor"],
        summary: "Look at everything that a worker needs, and say what to do where something is wrong.",
        discussion: """
            Looks at libraries, the configuration and its files, keys, the broker (name, connection, login, permissions,
            topology, limits of deliveries, queues) and APNs, each apart from the others; changes nothing and takes no message. APNs
            is asked by a push to a device that no one has, for each app: that it refuses the device means that it takes the
            key. Each line is ok, a warning, a failure, or not seen; exit code 0: there is no failure, 1: there is one.
            """,
        options: [.config(isRequired: true), .json])
}
