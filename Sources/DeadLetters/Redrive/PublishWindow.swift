/// How many messages are on their way to the broker at once, each as a task of a group.
package struct PublishWindow {
    /// Published and not confirmed.
    private static let inFlightMax = 256

    private var inFlight = 0

    package init() {}

    /// Waits until one more has room, which is added then.
    package mutating func makeRoom(in group: inout TaskGroup<Void>) async {
        if inFlight == Self.inFlightMax {
            _ = await group.next()
            inFlight -= 1
        }
        inFlight += 1
    }
}
