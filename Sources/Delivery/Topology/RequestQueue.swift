/// A queue that a lane takes requests from.
public struct RequestQueue: Sendable, Hashable {
    public var name: String
    /// Messages of it that the lane works on at the same time: 1 to 65,535.
    public var prefetch: Int

    public init(name: String, prefetch: Int) {
        self.name = name
        self.prefetch = prefetch
    }
}
