/// All that a simulator is told of its world: what a state file says, and what the admin port gives out and takes back.
/// ``StateCodec`` reads and writes it; what it writes reads back as the same.
public struct StateDocument: Sendable {
    public var state: SimulatorState
    /// In the order in which they are asked.
    public var faults: [Fault]
    /// How far the clock is ahead; nil for a clock that is left as it is. The admin port does not show it here but at
    /// `/v1/clock`.
    public var clockOffset: Duration?

    public init(state: SimulatorState = SimulatorState(), faults: [Fault] = [], clockOffset: Duration? = nil) {
        self.state = state
        self.faults = faults
        self.clockOffset = clockOffset
    }
}
