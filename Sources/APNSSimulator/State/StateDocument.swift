/// The complete state in state files and in the admin API: state, faults and clock offset.
///
/// ``StateCodec`` reads and writes documents. Reading a written document restores the same state.
public struct StateDocument: Sendable {
    public var state: SimulatorState
    /// The faults, in the order in which they apply.
    public var faults: [Fault]
    /// The offset by which the clock is ahead; nil leaves the clock unchanged. The admin API accepts the offset in a
    /// state, but shows the offset at `/v1/clock` only.
    public var clockOffset: Duration?

    public init(state: SimulatorState = SimulatorState(), faults: [Fault] = [], clockOffset: Duration? = nil) {
        self.state = state
        self.faults = faults
        self.clockOffset = clockOffset
    }
}
