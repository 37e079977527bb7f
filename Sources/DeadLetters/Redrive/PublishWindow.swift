/// A limit on the number of concurrent publishes. Each publish is a task of a group.
package struct PublishWindow {
    /// Maximum number of unconfirmed messages.
    private static let inFlightMax = 256

    private var inFlight = 0

    package init() {}

    /// Waits until the limit permits one more task. The caller must then add a task.
    package mutating func makeRoom(in group: inout TaskGroup<Void>) async {
        if inFlight == Self.inFlightMax {
            _ = await group.next()
            inFlight -= 1
        }
        inFlight += 1
    }
}
