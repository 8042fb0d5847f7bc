#!/usr/bin/env perl
# Plays connect four with a search of agon against random moves, in Perl. It speaks the protocol of
# docs/engine.md; nothing but Perl and the command `agon` is needed.
#
#     perl examples/engine.pl [path of agon]

use strict;
use warnings;
use IPC::Open2;
use JSON::PP;

my $json = JSON::PP->new->canonical;
my $agon = shift // "agon";
my $pid = open2(my $answers, my $calls, $agon, "engine");
$calls->autoflush(1);

sub call {
    my %request = @_;
    print $calls $json->encode(\%request), "\n";
    my $answer = $json->decode(scalar <$answers>);
    die "$answer->{error}\n" unless $answer->{ok};
    return $answer;
}

srand(1);
my $position = call(call => "load", game => "connect-four");
while (!$position->{terminal}) {
    my $move; # Where no role has a choice, all make their only move.
    if (!defined $position->{turn}) {
        print "forced\n";
    } elsif ($position->{turn} eq "red") {
        my $report = call(call => "search", state => $position->{state}, iterations => 300);
        $move = $report->{move};
        printf "red %s, expects %.0f\n", $move, $report->{value};
    } else {
        my $legal = call(call => "legal", state => $position->{state}, role => "yellow")->{legal};
        $move = $legal->[rand @$legal];
        print "yellow $move\n";
    }
    $position = call(call => "next", state => $position->{state}, moves => $move);
}
print call(call => "facts", state => $position->{state})->{picture}, "\n";
print $json->encode(call(call => "goals", state => $position->{state})->{goals}), "\n";
close $calls;
waitpid $pid, 0;
