/// The times at which a push was last sent and answered, in UNIX nanoseconds, for traces. Each time is nil before its
/// event. Use only on the loop's thread.
public final class PushTiming {
    public internal(set) var sentAt: Int64?
    public internal(set) var answeredAt: Int64?

    public init() {}
}
