/// When a push left and was answered, in UNIX nanoseconds, for whoever traces it. On the loop's thread only.
public final class PushTiming {
    public internal(set) var sentAt: Int64?
    public internal(set) var answeredAt: Int64?

    public init() {}
}
