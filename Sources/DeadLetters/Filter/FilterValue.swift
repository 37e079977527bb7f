/// What a field holds, or what it is compared with.
package enum FilterValue: Equatable, Sendable {
    case text(String)
    case number(Double)
    case milliseconds(Double)
    case boolean(Bool)
    /// There is no such field, or it is null.
    case missing
    /// An object or array: there, and equal to nothing.
    case other
}
