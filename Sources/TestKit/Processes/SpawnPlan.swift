import Glibc

/// The arguments, environment and standard streams of a process to start. Use the plan only on the thread of
/// `ProcessSpawner`.
struct SpawnPlan {
    let name: String
    let arguments: [String]
    let environment: [String]
    /// This process's ends of the pipes for standard input, output and error; nil for other streams.
    private(set) var parentEnds: [Int32?] = [nil, nil, nil]
    private(set) var childEnds: [Int32?] = [nil, nil, nil]

    init(
        _ command: [String], environment: [String: String]?, whenOrphaned: ChildProcess.OrphanEnd,
        streams: [ChildProcess.Stream]
    ) throws(ProcessError) {
        name = command.first.flatMap { $0.split(separator: "/").last.map(String.init) } ?? "(no command)"
        // The kernel ends the child even if the test runner crashes.
        arguments = ["/usr/bin/setpriv", "--pdeathsig", whenOrphaned.rawValue, "--"] + command
        // Tests must not use a configuration of the machine.
        let none = ["MARTLET_CONFIG": ""]
        let all = environment.map { none.merging($0) { $1 } } ?? Self.ownEnvironment().merging(none) { $1 }
        self.environment = all.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
        for (number, stream) in streams.enumerated() {
            let isInput = number == 0
            switch stream {
            case .inherited: break
            case .nothing: childEnds[number] = open("/dev/null", (isInput ? O_RDONLY : O_WRONLY) | O_CLOEXEC)
            case .file(let path):
                childEnds[number] = open(
                    path, (isInput ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC) | O_CLOEXEC, 0o644)
            case .pipe:
                // If another child inherited the pipe, the reader would not see the end of the output. No child is
                // started before the flag is set, because one thread creates pipes and starts children.
                var ends: [Int32] = [-1, -1]
                guard pipe(&ends) == 0 else { throw ProcessError(errno, "cannot create a pipe for \(name)") }
                for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
                childEnds[number] = isInput ? ends[0] : ends[1]
                parentEnds[number] = isInput ? ends[1] : ends[0]
            }
            if childEnds[number] == -1 { throw ProcessError(errno, "cannot open \(stream) for \(name)") }
        }
    }

    private func closeChildEnds() {
        for end in childEnds { if let end { close(end) } }
    }

    /// Starts the process, and closes the child's ends of its standard streams.
    ///
    /// - Throws: `ProcessError` if the process cannot be started.
    func start() throws(ProcessError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, end) in childEnds.enumerated() {
            if let end { posix_spawn_file_actions_adddup2(&actions, end, Int32(number)) }
        }
        // The child must not inherit signals that this process blocks or ignores.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let argumentPointers = arguments.map { strdup($0) } + [nil]
        let environmentPointers = environment.map { strdup($0) } + [nil]
        defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
        var pid: pid_t = 0
        let status = posix_spawnp(&pid, arguments[0], &actions, &attributes, argumentPointers, environmentPointers)
        closeChildEnds()
        guard status == 0 else {
            for end in parentEnds { if let end { close(end) } }
            throw ProcessError("cannot start \(name): \(String(cString: strerror(status)))")
        }
        return pid
    }

    private static func ownEnvironment() -> [String: String] {
        var found: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let words = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if words.count == 2 { found[String(words[0])] = String(words[1]) }
            next += 1
        }
        return found
    }
}
