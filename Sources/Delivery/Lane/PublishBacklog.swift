import EventLoop

/// The publishes of a lane that are repeated without success, and the deliveries that are not begun meanwhile.
struct PublishBacklog {
    private(set) var count = 0
    var outage = Outage()
    private var held: [UnsafeContinuation<Void, Never>] = []

    mutating func begin() {
        count += 1
    }

    /// A publish has succeeded, or was given up. Returns whether it was the last.
    mutating func end() -> Bool {
        count -= 1
        guard count == 0 else { return false }
        resumeHeld()
        return true
    }

    mutating func hold(_ continuation: UnsafeContinuation<Void, Never>) {
        held.append(continuation)
    }

    /// They look again whether they may begin.
    mutating func resumeHeld() {
        let resumed = held
        held = []
        for continuation in resumed { continuation.resume() }
    }
}
