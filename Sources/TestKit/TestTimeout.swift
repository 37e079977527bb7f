/// How long tests wait for what has to come. Only what fails takes so long: it may be longer than a machine needs that does
/// much else, under a sanitizer, and that stands still for a while.
public enum TestTimeout {
    public static let seconds = 180
    public static let duration = Duration.seconds(seconds)
}
